use strict;
use warnings;
use LWP::UserAgent;

$| = 1;
my ($url, $file) = @ENV{qw(API_URL FILE)};
my @headers = (Authorization => "Bearer $ENV{API_KEY}");
my $agent = LWP::UserAgent->new(env_proxy => 1);

# An error status is an answer like others.
sub checked {
    my ($answer) = @_;
    die $answer->status_line . ': ' . $answer->decoded_content . "\n" unless $answer->is_success;
    print $answer->decoded_content;
}

my %actions = (
    call => sub { checked($agent->get("$url/things", @headers)) },
    stream => sub { $agent->get("$url/events", @headers, ':content_cb' => sub { print $_[0] }, ':read_size_hint' => 1) },
    upload => sub { checked($agent->post("$url/files", [file => [$file]], Content_Type => 'form-data', @headers)) },
);
$actions{ $ARGV[0] }->();
